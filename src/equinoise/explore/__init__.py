"""A page on this computer where a custodian tries settings and sees what they give, before anything is released."""
