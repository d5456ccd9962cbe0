"""What Streamlit runs, as the main program of every visit."""

if __name__ == "__main__":
    from dashboards.app import main

    main()
