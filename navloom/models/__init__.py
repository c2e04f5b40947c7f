"""Chat models: ``provider/name`` to a LangChain chat model. Layer 0: imports no other layer."""

from navloom.models.model_registry import get_model

__all__ = ["get_model"]
