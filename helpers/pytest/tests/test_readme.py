"""The example of the README, with linode_api4."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_example_of_the_readme_passes(pytester, binary):
    import linode_api4  # noqa: F401: the example needs it

    example = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    pytester.makepyfile(example)
    pytester.runpytest("--garth-binary", binary).assert_outcomes(passed=example.count("def test_"))
