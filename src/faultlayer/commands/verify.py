"""`faultlayer verify`: whether a case is what it was when it was written."""

from pathlib import Path

import click


@click.command("verify")
@click.argument("case", type=click.Path(path_type=Path))
@click.option("--sources", is_flag=True, help="Hash the inputs again, too.")
def command(case: Path, *, sources: bool) -> None:
    """Check hashes, counts and conservation of CASE.

    Ends with exit code 5 and a list when anything differs.

    Example: faultlayer verify ./faultlayer-case --sources
    """
    from faultlayer import verify
    from faultlayer.case import open_case
    from faultlayer.errors import VerifyError
    from faultlayer.masking import safe

    opened = open_case(case)
    found = verify.differences(opened, sources=sources)
    for text in found:
        click.echo(safe(text))
    if found:
        noun = "difference" if len(found) == 1 else "differences"
        raise VerifyError(
            f"{len(found)} {noun} in {case}",
            hint="analyze the logs again, or restore the case from its copy",
        )
    books = opened.manifest.get("conservation", {})
    click.echo(
        f"{case}: {len(opened.manifest.get('files', {}))} files as written,"
        f" {books.get('lines', 0):,} lines and {books.get('bytes', 0):,} bytes"
        " all accounted for"
        + (f", {len(opened.manifest['sources'])} sources unchanged" if sources else "")
    )
