"""Who thinks: provider/name to a LangChain chat model. Floor 0: knows no other room."""
