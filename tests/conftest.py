"""Options of the test run."""


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write tests/golden/*.txt anew; look at what changed before it is committed",
    )
