"""The outside of the product, as real parts for tests: shop, model, PostgreSQL."""
