"""Who thinks: ``provider/name`` to a LangChain chat model. Floor 0: knows no other room."""

from navloom.models.registry import get_model

__all__ = ["get_model"]
