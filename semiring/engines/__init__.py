"""How an operation is carried out.  Engines receive checked questions (`spec`) and know no public syntax."""
