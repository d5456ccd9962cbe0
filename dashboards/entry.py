"""What Streamlit runs.  Worker processes import this file again and must find nothing to do."""

if __name__ == "__main__":
    from dashboards.app import main

    main()
