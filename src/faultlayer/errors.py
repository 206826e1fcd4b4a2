"""Every error that faultlayer raises on purpose, each with the exit code of CONTRACT."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file: line and column count from 1, offset is in bytes."""

    path: str
    line: int | None = None
    column: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        text = self.path
        if self.line is not None:
            text += f":{self.line}"
            if self.column is not None:
                text += f":{self.column}"
        if self.offset is not None:
            text += f" (byte {self.offset})"
        return text


class FaultlayerError(Exception):
    """A message for the user: what is wrong, where, and the next step."""

    exit_code = 1

    def __init__(
        self, message: str, *, at: Location | None = None, hint: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.at}: {self.message}" if self.at else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text


class UsageError(FaultlayerError):
    """The command line asks for something that cannot be meant."""

    exit_code = 2


class SourceError(FaultlayerError):
    """An input cannot be read at all."""

    exit_code = 6


class CaseError(FaultlayerError):
    """A case is missing, foreign, damaged, or cannot be written."""

    exit_code = 6


class VerifyError(FaultlayerError):
    """A case does not agree with its manifest."""

    exit_code = 5


class DefinitionError(FaultlayerError):
    """A format, signature, rule or query file is wrong.

    `excerpt` shows the place: the line and a caret below it.
    """

    exit_code = 7

    def __init__(
        self,
        message: str,
        *,
        at: Location | None = None,
        hint: str = "",
        excerpt: str = "",
    ) -> None:
        super().__init__(message, at=at, hint=hint)
        self.excerpt = excerpt

    def __str__(self) -> str:
        head = f"{self.at}: {self.message}" if self.at else self.message
        hint = f"hint: {self.hint}" if self.hint else ""
        return "\n".join(text for text in (head, self.excerpt, hint) if text)


class AssetError(FaultlayerError):
    """The installation lacks its own definitions."""

    exit_code = 1
