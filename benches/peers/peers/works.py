"""What is timed: for every work the commands of stroock, and who takes part."""

from dataclasses import dataclass, replace

STEP_FORMS = ("torch-plain", "torch-tuned", "torch-best")
# The rivals of the paper: as published code has them, and as fast as we could make them.
RIVAL_FORMS = ("torch-plain", "torch-best")
# The width that PhysioNet's series are padded to as published.
PHYSIONET_WIDTH = 203
# Paths of a series in inference.
SAMPLES = 10


@dataclass(frozen=True)
class Work:
    """One row group of the table."""

    name: str
    about: str
    kind: str
    # Arguments of `stroock bench` that measure it.
    measure: tuple
    # Arguments that write the record that contestants are timed on, and the one they are checked on.
    record: tuple
    check: tuple
    contestants: tuple
    # Contestants whose check would take minutes, and is made at a smaller size of the same work.
    unchecked: tuple = ()
    # Points that plain code pads every series to.
    width: int | None = None
    # Posterior samples that one repeat draws.
    samples: int | None = None


def path(steps):
    """The latent path alone."""
    settings = ("path", "--steps", str(steps), "--series", "50", "--dim", "16")
    return Work(
        name=f"path-{steps}",
        about=f"path alone, n = 16, batch 50, {steps} steps, forward and backward",
        kind="path",
        measure=settings,
        record=settings,
        check=settings,
        contestants=(
            "stroock-torch",
            "torch-listing",
            "torch-bmm",
            "torch-action",
            "jax-jit",
            "torchsde",
            "torchdiffeq",
            "diffrax",
        ),
        unchecked=("torch-listing",) if steps > 1000 else (),
    )


def step(name, about, experiment, batch, *options, check_batch=8, width=None):
    """One training step."""
    settings = ("step", experiment, *options)
    full = (*settings, "--batch-size", str(batch))
    return Work(
        name=f"step-{name}-{batch}",
        about=f"training step, {about}, batch {batch}",
        kind="step",
        measure=(*full, "--same-batch"),
        record=(*full, "--no-noise"),
        check=(*settings, "--batch-size", str(check_batch)),
        contestants=STEP_FORMS,
        width=width,
    )


def rival(name, about, experiment, model, batch, *, check_batch=8, width=None):
    """One training step of a model that the paper compares itself with."""
    whole = step(name, about, experiment, batch, "--model", model, check_batch=check_batch, width=width)
    return replace(whole, contestants=RIVAL_FORMS)


def sample():
    """Inference."""
    return Work(
        name="sample",
        about="inference, PhysioNet 6 min, 10 posterior samples of each of 50 series",
        kind="sample",
        measure=("sample", "physionet", "--batch-size", "50", "--samples", str(SAMPLES)),
        record=("step", "physionet", "--batch-size", "50", "--no-noise"),
        check=("step", "physionet", "--batch-size", "8"),
        contestants=STEP_FORMS,
        width=PHYSIONET_WIDTH,
        samples=50 * SAMPLES,
    )


def encoder():
    """Attention and recurrent unit."""
    settings = ("encoder", "--batch-size", "50")
    return Work(
        name="encoder",
        about="time attention and GRU, PhysioNet's shapes, batch 50, forward and backward",
        kind="encoder",
        measure=settings,
        record=settings,
        check=settings,
        contestants=("torch-plain", "torch-tuned", "torch-best"),
        width=PHYSIONET_WIDTH,
    )


WORKS = (
    path(16),
    path(480),
    path(2880),
    encoder(),
    step("rotating-mnist", "rotating MNIST", "rotating-mnist", 32),
    step("rotating-mnist", "rotating MNIST", "rotating-mnist", 50),
    step("pendulum-angle", "pendulum angle", "pendulum-angle", 64),
    step("pendulum-images", "pendulum images", "pendulum-images", 64, width=50),
    step("activity", "human activity", "activity", 50),
    step("physionet-6min", "PhysioNet 6 min", "physionet", 50, width=PHYSIONET_WIDTH),
    step("physionet-6min", "PhysioNet 6 min", "physionet", 64, width=PHYSIONET_WIDTH),
    step(
        "physionet-1min",
        "PhysioNet 1 min",
        "physionet",
        50,
        "--minutes",
        "1",
        check_batch=2,
        width=PHYSIONET_WIDTH,
    ),
    step("lorenz", "Lorenz", "lorenz", 64),
    step("sine", "sine, 10 samples", "sine", 1, check_batch=1),
    rival(
        "physionet-latent-ode",
        "PhysioNet 6 min, mTAND-ODE",
        "physionet",
        "latent-ode",
        50,
        width=PHYSIONET_WIDTH,
    ),
    rival(
        "physionet-neural-sde",
        "PhysioNet 6 min, mTAND-SDE",
        "physionet",
        "neural-sde",
        50,
        width=PHYSIONET_WIDTH,
    ),
    rival(
        "physionet-mtand-full",
        "PhysioNet 6 min, mTAND-Full, 5 samples",
        "physionet",
        "mtand-full",
        32,
        check_batch=4,
        width=PHYSIONET_WIDTH,
    ),
    rival("physionet-cru", "PhysioNet 6 min, CRU", "physionet", "cru", 50),
    rival("physionet-f-cru", "PhysioNet 6 min, f-CRU", "physionet", "f-cru", 50),
    rival("pendulum-angle-cru", "pendulum angle, CRU", "pendulum-angle", "cru", 50),
    rival("pendulum-angle-f-cru", "pendulum angle, f-CRU", "pendulum-angle", "f-cru", 50),
    rival("pendulum-angle-s5", "pendulum angle, S5", "pendulum-angle", "s5", 32),
    sample(),
)
