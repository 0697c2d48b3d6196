"""What of the site needs the extra 'docs': make docs."""

from docs_build.docstrings import for_page


def test_docstrings_lose_roles_and_keep_sessions_as_code():
    text = "Like :func:`optimize`.\n\n>>> a = [1][:1]\n>>> a\n[1]\n\nMore."
    assert for_page(text) == "Like `optimize`.\n\n```pycon\n>>> a = [1][:1]\n>>> a\n[1]\n```\n\nMore."
