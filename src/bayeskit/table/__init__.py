"""Any table → integer codes and numeric columns."""
