"""The models of training steps by the names that stroock has for them.

A model is made from a protocol and a form. Called with a batch and a number of samples it gives everything that a record
has of a step, by name; `loss` makes the loss of that, and `links` say where stroock has the parameters.
"""

from .model import LatentSde
from .rival_cru import Cru
from .rival_latent_ode import LatentOde
from .rival_mtand_full import MtandFull
from .rival_neural_sde import NeuralSde
from .rival_s5 import S5

MODELS = {
    "latent-sde": LatentSde,
    "latent-ode": LatentOde,
    "neural-sde": NeuralSde,
    "mtand-full": MtandFull,
    "cru": Cru,
    "f-cru": Cru,
    "s5": S5,
}


def model_of(protocol, form):
    """The model of a protocol in a form: plain, tuned or best."""
    return MODELS[protocol["model"]["kind"]](protocol, form)
