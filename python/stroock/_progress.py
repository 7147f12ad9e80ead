"""What a fit shows while it goes on: a bar in a notebook and on a terminal, lines elsewhere."""

from __future__ import annotations

import html
import sys
from typing import Any


def display() -> Any:
    """The display that suits where the program runs."""
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
            return Notebook()
    return Terminal() if sys.stderr is not None and sys.stderr.isatty() else Lines()


class Notebook:
    """A bar in the output of a cell."""

    def __init__(self) -> None:
        from IPython import display

        shown: Any = display
        self._html, self._last = shown.HTML, ""
        self._handle = shown.display(shown.HTML(""), display_id=True)

    def __call__(self, epoch: int, epochs: int, share: float, text: str, is_mark: bool) -> None:
        bar = f'<progress value="{share:.4f}" max="1" style="width: 20em"></progress> epoch {epoch}/{epochs}'
        self._last = bar
        self._handle.update(self._html(f"{bar}: {html.escape(text)}"))

    def close(self) -> None:
        """Leaves the bar, without what was done last."""
        self._handle.update(self._html(self._last))


class Terminal:
    """A bar in the last line of a terminal."""

    WIDTH = 20

    def __call__(self, epoch: int, epochs: int, share: float, text: str, is_mark: bool) -> None:
        import shutil

        done = round(share * self.WIDTH)
        bar = "=" * done + ">" * (done < self.WIDTH) + " " * (self.WIDTH - done - 1)
        line = f"epoch {epoch}/{epochs} [{bar}] {text}"
        columns = shutil.get_terminal_size().columns
        sys.stderr.write("\r\x1b[K" + line[: columns - 1])
        sys.stderr.flush()

    def close(self) -> None:
        """Ends the line."""
        sys.stderr.write("\n")


class Lines:
    """A line for every epoch, for logs."""

    def __call__(self, epoch: int, epochs: int, share: float, text: str, is_mark: bool) -> None:
        if is_mark and sys.stderr is not None:
            sys.stderr.write(f"epoch {epoch}/{epochs}: {text}\n")
            sys.stderr.flush()
