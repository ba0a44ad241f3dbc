function __gradcli_complete
    set --local typed (commandline -cp)
    set --local found (env _GRADCLI_COMPLETE=complete_fish \
        _TYPER_COMPLETE_FISH_ACTION=get-args _TYPER_COMPLETE_ARGS="$typed" gradcli)
    if test -n "$found"
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end

complete --command gradcli --no-files --arguments "(__gradcli_complete)"
