"""The compiled part of the package."""

from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

__version__: str

class StroockError(ValueError): ...
class TableError(StroockError): ...
class ModelError(StroockError): ...
class NothingAhead(ModelError): ...
class PathError(StroockError): ...

Given = Tuple["Frame", str, str]
Answer = Tuple["Frame", List[str], List[str]]
Show = Callable[[int, int, float, str, bool], Any]

class Frame:
    @staticmethod
    def from_stream(object: Any) -> "Frame": ...
    @staticmethod
    def from_columns(columns: Sequence[Tuple[str, str, Optional[str], Any]]) -> "Frame": ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __len__(self) -> int: ...
    def columns(self) -> List[Tuple[str, str, Optional[str], Any]]: ...
    @property
    def names(self) -> List[str]: ...

class Model:
    @staticmethod
    def load(path: str) -> "Model": ...
    def save(self, path: str) -> None: ...
    def facts(self) -> str: ...
    @property
    def config(self) -> str: ...
    def impute(
        self, given: Given, at: Optional[List[str]], quantiles: List[float], draws: int, samples: int, seed: int
    ) -> Answer: ...
    def fill(
        self, given: Given, draws: int, seed: int
    ) -> Tuple[Optional[Frame], List[Tuple[str, np.ndarray]], List[str]]: ...
    def forecast(
        self,
        given: Given,
        steps: Optional[int],
        length_of_time: Optional[str],
        until: Optional[str],
        every: Optional[str],
        quantiles: List[float],
        draws: int,
        samples: int,
        seed: int,
    ) -> Answer: ...
    def classify(self, given: Given, draws: int, seed: int) -> Answer: ...
    def sample(self, given: Optional[Given], count: int, every: Optional[str], seed: int, prior: bool) -> Answer: ...
    def evaluate(
        self,
        given: Optional[Given],
        hold_out: Optional[str],
        share: float,
        block: int,
        origins: int,
        draws: int,
        seed: int,
        samples: Optional[str],
    ) -> Tuple[str, str]: ...
    def evaluate_part(
        self, given: Given, hold_out: str, share: float, block: int, draws: int, seed: int
    ) -> str: ...
    def evaluation(self, parts: List[str]) -> Tuple[str, str]: ...
    def report(self, given: Optional[Given], hold_out: Optional[str], series: int) -> str: ...

class PathTape:
    def backward(
        self,
        start: np.ndarray,
        drift: np.ndarray,
        times: np.ndarray,
        noise: Optional[np.ndarray],
        of_states: np.ndarray,
        of_kl: np.ndarray,
    ) -> Tuple[np.ndarray, np.ndarray, float]: ...

def describe(frame: Frame, name: str, read: str) -> Tuple[str, str]: ...
def extent(frame: Frame, name: str, read: str) -> Tuple[int, int, int]: ...
def figure(model: Model, given: Given, wish: Any) -> Tuple[str, List[str]]: ...
def fit(given: Given, wish: Any, show: Optional[Show]) -> Model: ...
def drift_len(space: str, scheme: str, n: int) -> int: ...
def path_forward(
    start: np.ndarray,
    drift: np.ndarray,
    times: np.ndarray,
    noise: Optional[np.ndarray],
    sigma: float,
    interval: Optional[Tuple[float, float]],
    seed: int,
    at: Optional[List[int]],
    space: str,
    scheme: str,
    reversible: bool,
) -> Tuple[np.ndarray, np.ndarray, PathTape]: ...
def path_pull_back(
    start: np.ndarray,
    drift: np.ndarray,
    times: np.ndarray,
    noise: Optional[np.ndarray],
    sigma: float,
    interval: Optional[Tuple[float, float]],
    seed: int,
    at: Optional[List[int]],
    space: str,
    scheme: str,
    reversible: bool,
    of_states: np.ndarray,
    of_kl: np.ndarray,
) -> Tuple[np.ndarray, np.ndarray, float]: ...
