"""The import rule: every module has a tier and imports only from tiers above its own."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.checkout

# From words at the top to the command line at the bottom. A module imports only from
# rows above its own; modules of one row do not import each other. `clocks.*` is every
# module of the package, which may import each other.
TIERS = """
errors format_keys interleave journal literals marked no_logs pasted regex_faults schema toml_places
assets chances definitions documents durations format_schema frame jsonl logical_lines masking rotation simulate.* span stamps statements vocabulary wording
members pseudonyms stated stored
decode encodings spill tarfiles zipfiles
magic
archives arrange
find
blocks invented
lines same_bytes
alike compile naming normalise reading tables
quoted
shape wrappers
dialects.*
patterns peel
formats level pairs signatures
near sent_to structured take timeline told unwrap upstreams write
around enclosed layers rows scoring
first_stamps
detect reasons
loaded orders
assemble
whole
parse
blowup draft_text found_formats guess notes rivals
prove
corrected derived drafting queries
functions
database
accounts investigations lexicon reading_only sorted_files
case completing misnamed mutants
clock_ids clocks.* influences redaction taken
classify copies earlier rule_records
rule_bench
rule_cases
intake own_rules
analyze
changes counted lookup summary verify
clock_words comparing dossier
clock_picture render
incident_words record_words
answers changes_screen dossier_screen explanation summary_screen windowed
funnel report_page.*
postmortem
report
commands.*
cli
__main__
"""

# Who may import a third party, besides nobody. What is absent here is free to all.
FENCES = {
    "click": {"cli", "commands.*"},
    "duckdb": {
        "accounts",
        *("influences", "own_rules"),
        *("answers", "case", "classify", "clocks.*", "commands.*", "database"),
        *(
            "counted",
            "dossier",
            "funnel",
            "investigations",
            "lookup",
            "mutants",
            "rule_bench",
            "rule_records",
            "rule_cases",
            "sorted_files",
            "summary",
        ),
    },
    "isal": {"decode"},
    "prompt_toolkit": {"commands.*"},
    "jinja2": {"report_page.*"},
    "rich": {"commands.*", "render"},
    "zstandard": {"decode", "spill"},
}


def _tiers() -> dict[str, int]:
    rows = [row.split() for row in TIERS.strip().splitlines()]
    return {name: tier for tier, row in enumerate(rows) for name in row}


def _entry(module: str, names: dict[str, int] | set[str]) -> str | None:
    """Give the row entry that covers a module: its own name, or its package's."""
    package = module.split(".", maxsplit=1)[0]
    for name in (module, f"{package}.*"):
        if name in names:
            return name
    return None


def _modules(root: Path) -> dict[str, ast.Module]:
    top = root / "src" / "faultlayer"
    return {
        ".".join(path.relative_to(top).with_suffix("").parts): ast.parse(
            path.read_text("utf-8"), str(path)
        )
        for path in sorted(top.rglob("*.py"))
        if path != top / "__init__.py"
    }


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield dotted names that are imported anywhere in a module, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def _own(dotted: str, modules: dict[str, ast.Module]) -> str | None:
    """Give our module that a dotted import names, or None for a third party."""
    head, *rest = dotted.split(".")
    if head != "faultlayer":
        return None
    for length in range(len(rest), 0, -1):
        name = ".".join(rest[:length])
        for candidate in (name, f"{name}.__init__"):
            if candidate in modules:
                return candidate
    return "__init__"


def breaches(modules: dict[str, ast.Module]) -> list[str]:
    """List the imports that go down or sideways, and the modules without a tier."""
    tiers = _tiers()
    found = []
    for module, tree in modules.items():
        own_entry = _entry(module, tiers)
        if own_entry is None:
            found.append(f"{module} has no tier: give it one in {Path(__file__).name}")
            continue
        for dotted, line in _imports(tree):
            target = _own(dotted, modules)
            if target is None or target == "__init__":
                continue
            entry = _entry(target, tiers)
            same_package = entry == own_entry and entry.endswith(".*")
            if entry and not same_package and tiers[entry] >= tiers[own_entry]:
                found.append(f"{module}:{line} imports {target}, which is not above it")
    return found


def test_modules_import_from_above_only(root: Path) -> None:
    """No module imports from its own row or from below, and each has a tier."""
    assert breaches(_modules(root)) == []


def test_an_upward_import_is_caught() -> None:
    """The rule sees a planted breach: a check that finds nothing proves nothing."""
    planted = {
        "errors": ast.parse("def f():\n    from faultlayer import parse"),
        "parse": ast.parse(""),
        "stray": ast.parse(""),
    }
    assert breaches(planted) == [
        "errors:2 imports parse, which is not above it",
        "stray has no tier: give it one in test_architecture.py",
    ]


def test_third_parties_stay_behind_their_fences(root: Path) -> None:
    """A fenced package is imported only by the modules that own it."""
    found = [
        f"{module}:{line} imports {dotted}"
        for module, tree in _modules(root).items()
        for dotted, line in _imports(tree)
        if (fence := FENCES.get(dotted.split(".")[0])) is not None
        and _entry(module, fence) is None
    ]
    assert found == []


def test_only_declared_packages_are_imported(root: Path) -> None:
    """What the code imports is in `dependencies`: a dev package hides no missing one."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {entry.split(">=")[0] for entry in project["dependencies"]}
    known = declared | sys.stdlib_module_names | {"faultlayer"}
    found = [
        f"{module}:{line} imports {dotted}"
        for module, tree in _modules(root).items()
        for dotted, line in _imports(tree)
        if dotted.split(".")[0] not in known
    ]
    assert found == []


def test_the_database_is_opened_in_one_place(root: Path) -> None:
    """Only `database` connects: zone, extensions and limits are set there."""
    found = [
        module
        for module, tree in _modules(root).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "duckdb.connect"
        and module != "database"
    ]
    assert found == []


@pytest.mark.parametrize("folder", ["parsers", "queries"])
def test_definitions_hold_no_python(root: Path, folder: str) -> None:
    """Formats and queries are data."""
    assert [str(path) for path in (root / folder).rglob("*.py")] == []
