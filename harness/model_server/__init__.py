"""The scripted model: model APIs on loopback that answer as a scenario says.

An agent that is set up to use it believes that it talks to a model.
"""

from harness.model_server.script import Problem
from harness.model_server.server import ModelServer
from harness.model_server.view import Item, Logged, Offered, Request

__all__ = ["Item", "Logged", "ModelServer", "Offered", "Problem", "Request"]
