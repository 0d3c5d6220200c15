from tests.nx_backend.table import HEAD, PAGE, table


def test_the_page_lists_the_functions() -> None:
    assert PAGE.read_text(encoding="utf-8").endswith(HEAD + table()), "python -m tests.nx_backend.table"
