# Installs gateway-agent for this user, from the coordinator that serves this script:
#
#   irm https://gateway.example.org/install.ps1 | iex
#
# Options are variables of the environment, because a script that is piped takes no arguments:
#   GATEWAY_AGENT_TOKEN   a join token (gwj_...), instead of a code to approve
#   GATEWAY_AGENT_NAME    what this machine is called
#   GATEWAY_INSTALL       words with spaces between them:
#                         service: run it as a service, without asking; no-start: do not start it;
#                         force: join again, as another provider or with a new token;
#                         uninstall: remove the agent, its service, its configuration and identity;
#                         yes: ask no questions
#
# Everything is one block that ends in the last line: of a script that arrives in part, nothing
# runs, and no setting, variable or function stays in the shell that it was piped to.
& {
Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'

$Url = @URL@
$Version = @VERSION@
# A line a file: kind, platform, name, bytes, SHA-256.
$Files = @FILES@

$Root = Join-Path $env:LOCALAPPDATA 'gateway-agent'
$Agent = Join-Path $Root 'bin\gateway-agent.cmd'
$Words = @("$env:GATEWAY_INSTALL".Trim() -split '\s+')

function Install-GatewayAgent {
  if (Test-Word 'uninstall') { Uninstall-Agent; return }
  Install-Files
  Join-Coordinator
  Start-Agent
}

function Test-Word([string] $Word) { return $Words -contains $Word }

# Whether somebody can be asked.
function Test-Terminal {
  if (Test-Word 'yes') { return $false }
  return [Environment]::UserInteractive -and -not [Console]::IsInputRedirected
}

function Stop-Install([string] $Message) { throw "install.ps1: $Message" }

# The agent's exit code decides, not what it writes to stderr.
function Invoke-Agent([string[]] $Arguments) {
  $ErrorActionPreference = 'Continue'
  & $Agent @Arguments
  return
}

function Install-Files {
  $installed = Get-InstalledVersion
  if ($installed) {
    $status = Get-OwnStatus
    if ($status -and $status.url -and -not (Test-Word 'force')) { Update-Agent; return }
    # It belongs to no coordinator, or to one that it leaves: it gets the release of this one.
    if ($installed -eq $Version) { Write-Host "gateway-agent $Version is in $Root already."; return }
  }
  $file = Select-File
  foreach ($folder in 'versions', 'bin') {
    New-Item -ItemType Directory -Force -Path (Join-Path $Root $folder) | Out-Null
  }
  $lock = Open-Lock
  try { Install-Release $file } finally { Close-Lock $lock }
  Write-Host "gateway-agent $Version is installed in $Root."
  Add-ToPath (Split-Path $Agent)
}

# The version of an agent that is installed and starts, else null.
function Get-InstalledVersion {
  if (-not (Test-Path (Join-Path $Root 'install.json'))) { return $null }
  if (-not (Test-Path $Agent)) { return $null }
  $found = Invoke-Agent @('version') 2>$null | Out-String
  if ($LASTEXITCODE -ne 0) { return $null }
  return $found.Trim()
}

# An installed agent replaces itself, and goes back if the new version does not start. If it fails it
# says why, and an agent that still starts is kept.
function Update-Agent {
  Write-Host "gateway-agent is installed in ${Root}: upgrading it."
  # The configuration of an agent with a token of its own (gwa_...) may name no coordinator.
  $before = $env:GATEWAY_AGENT_URL
  $env:GATEWAY_AGENT_URL = $Url
  try { Invoke-Agent @('upgrade', '--yes') } finally { $env:GATEWAY_AGENT_URL = $before }
  if ($LASTEXITCODE -eq 0 -or (Get-InstalledVersion)) { return }
  Stop-Install 'the agent does not start any more.'
}

# One installation or upgrade at a time. The agent's own upgrade writes its process id to this file;
# this script also keeps it open, so that no other process can read or replace it.
function Open-Lock {
  $path = Join-Path $Root 'lock'
  $busy = "another installation or upgrade is under way: wait for it. If there is none, remove $path."
  try { $lock = [IO.File]::Open($path, 'OpenOrCreate', 'ReadWrite', 'None') } catch { Stop-Install $busy }
  $holder = (New-Object IO.StreamReader($lock)).ReadToEnd().Trim()
  if ($holder -match '^\d+$' -and $holder -ne "$PID" -and (Get-Process -Id $holder -ErrorAction SilentlyContinue)) {
    $lock.Dispose()
    Stop-Install $busy
  }
  $bytes = [Text.Encoding]::ASCII.GetBytes("$PID`n")
  $lock.SetLength(0)
  $lock.Write($bytes, 0, $bytes.Length)
  $lock.Flush()
  return $lock
}

function Close-Lock($Lock) {
  $Lock.Dispose()
  # If another process has opened it by now, it is not removed.
  Remove-Item (Join-Path $Root 'lock') -ErrorAction SilentlyContinue
}

# The lock is held.
function Install-Release($File) {
  Get-ChildItem -Path $Root -Filter '.new.*' -Force | Remove-Item -Recurse -Force
  $work = Join-Path $Root ".new.$PID"
  New-Item -ItemType Directory -Path $work | Out-Null
  try {
    Get-Artifact $file $work
    $unpacked = Join-Path $work 'agent'
    if ($file.Kind -eq 'package') {
      & tar.exe -xzf (Join-Path $work $file.Name) -C $unpacked --strip-components 1
      if ($LASTEXITCODE -ne 0) { Stop-Install "cannot unpack $($file.Name). Nothing is installed." }
      $runner = "@`"$($file.Node)`" `"%~dp0bin\gateway-agent.js`" %*"
      Set-Content -Path (Join-Path $unpacked 'run.cmd') -Value $runner -Encoding Oem
      $program = 'run.cmd'
    } else {
      Expand-Gzip (Join-Path $work $file.Name) (Join-Path $unpacked 'gateway-agent.exe')
      $program = 'gateway-agent.exe'
    }
    $found = & (Join-Path $unpacked $program) version
    if ($found -ne $Version) { Stop-Install "the agent does not run here. Nothing is installed." }
    $folder = Join-Path $Root "versions\$Version"
    if (Test-Path $folder) { Remove-Item -Recurse -Force $folder }
    Move-Item $unpacked $folder
    $current = Join-Path $Root 'current'
    if (Test-Path $current) { (Get-Item $current).Delete() }
    New-Item -ItemType Junction -Path $current -Target $folder | Out-Null
    Set-Content -Path $Agent -Value "@`"%~dp0..\current\$program`" %*" -Encoding Oem
    Set-Content -Path (Join-Path $Root 'install.json') -Value "{`"kind`":`"$($file.Kind)`"}" -Encoding Ascii
  } finally {
    Remove-Item -Recurse -Force $work -ErrorAction SilentlyContinue
  }
}

# The package if there is Node, else the executable.
function Select-File {
  $rows = @($Files -split "`n" | ForEach-Object { , ($_.Trim() -split ' ') })
  $node = Get-Command node.exe -ErrorAction SilentlyContinue
  if ($node -and (Test-Node $node.Source)) {
    $row = $rows | Where-Object { $_[0] -eq 'package' } | Select-Object -First 1
    if ($row) { return New-File $row $node.Source }
  }
  $row = $rows | Where-Object { $_[0] -eq 'executable' -and $_[1] -eq 'windows-x64' } | Select-Object -First 1
  if ($row) { return New-File $row $null }
  Stop-Install "there is no Node 20.19 or newer, and $Url has no executable for Windows: install Node (24 is best) and run this again."
}

function New-File($Row, $Node) {
  return [pscustomobject]@{
    Kind = $Row[0]; Name = $Row[2]; Bytes = [long] $Row[3]; Sha256 = $Row[4]; Node = $Node
  }
}

function Test-Node([string] $Path) {
  $text = & $Path --version
  if ($text -notmatch '^v(\d+)\.(\d+)\.') { return $false }
  $major = [int] $Matches[1]
  return ($major -gt 20) -or ($major -eq 20 -and [int] $Matches[2] -ge 19)
}

function Get-Artifact($File, [string] $Folder) {
  New-Item -ItemType Directory -Path (Join-Path $Folder 'agent') | Out-Null
  $free = (Get-PSDrive (Split-Path $Root -Qualifier).TrimEnd(':')).Free
  if ($free -lt 5 * $File.Bytes) { Stop-Install "$Root has no room: $([long] (5 * $File.Bytes / 1MB)) MiB are needed." }
  Write-Host "Downloading $($File.Name) from $Url"
  $path = Join-Path $Folder $File.Name
  # Its progress bar makes Windows PowerShell 5 ten times slower.
  $ProgressPreference = 'SilentlyContinue'
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
  Invoke-WebRequest -UseBasicParsing -Uri "$Url/download/$($File.Name)" -OutFile $path
  $digest = (Get-FileHash -Algorithm SHA256 -Path $path).Hash.ToLowerInvariant()
  if ($digest -ne $File.Sha256) {
    Stop-Install "$($File.Name) has the SHA-256 $digest, and $($File.Sha256) is expected. Nothing is installed. Try again."
  }
}

function Expand-Gzip([string] $From, [string] $To) {
  $source = [IO.File]::OpenRead($From)
  $target = [IO.File]::Create($To)
  try {
    $gzip = New-Object IO.Compression.GZipStream($source, [IO.Compression.CompressionMode]::Decompress)
    $gzip.CopyTo($target)
  } finally {
    $target.Dispose()
    $source.Dispose()
  }
}

function Add-ToPath([string] $Folder) {
  if (@($env:Path -split ';') -contains $Folder) { return }
  Edit-UserPath {
    param([string] $Old)
    if (@($Old -split ';') -contains $Folder) { return $Old }
    return "$Old;$Folder".TrimStart(';')
  }
  $env:Path = "$env:Path;$Folder"
  Write-Host "$Folder is added to your PATH."
}

function Remove-FromPath([string] $Folder) {
  Edit-UserPath {
    param([string] $Old)
    return @($Old -split ';' | Where-Object { $_ -ne $Folder }) -join ';'
  }
  $env:Path = @($env:Path -split ';' | Where-Object { $_ -ne $Folder }) -join ';'
}

# Changes this user's PATH in the registry: [Environment] would replace each %VARIABLE% in it by its
# value.
function Edit-UserPath([scriptblock] $Change) {
  $key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
  try {
    $kind = [Microsoft.Win32.RegistryValueKind]::ExpandString
    if (@($key.GetValueNames()) -contains 'Path') { $kind = $key.GetValueKind('Path') }
    $raw = [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames
    $old = [string] $key.GetValue('Path', '', $raw)
    $new = [string] (& $Change $old)
    if ($new -ne $old) { $key.SetValue('Path', $new, $kind) }
  } finally {
    $key.Close()
  }
  # Removes nothing, and lets running programs know that the variables have changed.
  [Environment]::SetEnvironmentVariable('GATEWAY_INSTALL_PATH', [NullString]::Value, 'User')
}

# What the agent says of itself, whether or not it runs; null if it says nothing.
function Get-AgentStatus {
  $text = Invoke-Agent @('status', '--json') 2>$null | Out-String
  if ($text.Trim() -eq '') { return $null }
  return $text | ConvertFrom-Json
}

# The same. Fails if the agent belongs to another coordinator.
function Get-OwnStatus {
  $status = Get-AgentStatus
  if ($status -and $status.url -and $status.url -ne $Url -and -not (Test-Word 'force')) {
    Stop-Install "the agent is installed, and belongs to $($status.url) already. To move it, set GATEWAY_INSTALL to force."
  }
  return $status
}

function Test-Running {
  Invoke-Agent @('status') 2>$null | Out-Null
  return $LASTEXITCODE -eq 0
}

function Join-Coordinator {
  $status = Get-OwnStatus
  $again = @()
  if (Test-Word 'force') {
    $again = @('--force')
  } elseif ($status -and $status.url -and (Test-Path "$($status.config).token")) {
    Write-Host "Joined $Url already."
    return
  }
  $token = $env:GATEWAY_AGENT_TOKEN
  if ($token -like 'gwa_*') {
    # The agent's own token: it stays in the environment, and is not stored.
    $env:GATEWAY_AGENT_URL = $Url
    return
  }
  if ($token -like 'gwj_*') {
    Remove-Item Env:GATEWAY_AGENT_TOKEN
    $token | & $Agent enroll --url $Url --token-file - @again
  } else {
    Invoke-Agent (@('login', '--url', $Url) + $again)
  }
  if ($LASTEXITCODE -ne 0) {
    Stop-Install 'the agent is installed, but has not joined: see above. Then run this again.'
  }
}

function Start-Agent {
  if (Test-Word 'no-start') { Write-Host 'Start it with: gateway-agent start --yes'; return }
  if (Test-Running) {
    if (Test-Word 'force') { Restart-Agent }
    Write-Host 'It runs. See: gateway-agent status'
    return
  }
  $service = Test-Word 'service'
  if (-not $service -and (Test-Terminal)) {
    $service = (Read-Host 'Run it as a service that starts with your log-in? [Y/n]') -notmatch '^[nN]'
  }
  if (-not $service) { Invoke-Agent @('start', '--yes'); return }
  Invoke-Agent @('services', 'scan', '--add')
  if ($LASTEXITCODE -ne 0) { Stop-Install 'joined, but no model server was found: start one and run this again.' }
  Invoke-Agent @('service', 'install')
  if ($LASTEXITCODE -ne 0) { Stop-Install 'joined, but the service is not installed: see above.' }
  Invoke-Agent @('wait')
  if ($LASTEXITCODE -ne 0) { Stop-Install 'the service is installed, but is not online: see above.' }
}

# What runs still has the identity that force has replaced.
function Restart-Agent {
  Invoke-Agent @('service', 'stop') 2>$null | Out-Null
  if (Test-Running) {
    Stop-Install 'joined again, but the agent that runs has its old identity: stop it (Ctrl-C where it was started), and run: gateway-agent start'
  }
  Invoke-Agent @('service', 'start')
  Invoke-Agent @('wait')
  if ($LASTEXITCODE -ne 0) { Stop-Install 'joined again, but the service is not online: see above.' }
}

function Uninstall-Agent {
  if (-not (Test-Path $Root)) { Stop-Install "there is no agent in $Root." }
  $status = Get-AgentStatus
  if (-not $status) {
    Stop-Install ("the agent in $Root does not start, so its service and configuration are not found. " +
      'Nothing is removed. Repair it first: run this with GATEWAY_INSTALL set to no-start. Or remove by hand ' +
      "the scheduled task gateway-agent, $(Join-Path $env:APPDATA 'gateway-agent') and $Root.")
  }
  $config = $status.config
  if (-not (Test-Word 'yes')) {
    if (-not (Test-Terminal)) { Stop-Install 'where nobody can be asked, set GATEWAY_INSTALL to "uninstall yes".' }
    $answer = Read-Host "Remove the agent, its service and its identity ($Root, $config)? [Y/n]"
    if ($answer -match '^[nN]') { Stop-Install 'nothing is removed.' }
  }
  Invoke-Agent @('service', 'uninstall') 2>$null | Out-Null
  # 3: there is none.
  if (@(0, 3) -notcontains $LASTEXITCODE) {
    Stop-Install 'the service is not removed, and neither is anything else. For the reason, run: gateway-agent service uninstall'
  }
  if (Test-Running) { Stop-Install 'the agent still runs: stop it first (Ctrl-C where it was started).' }
  # All or nothing: a folder cannot get another name while a file in it is in use.
  $old = "$Root.removed"
  if (Test-Path $old) { Remove-Installation $old }
  try {
    [IO.Directory]::Move($Root, $old)
  } catch {
    Stop-Install "something in $Root is in use: close it, and run this again. Only the service is removed."
  }
  foreach ($path in $config, "$config.token", "$config.state") {
    if (Test-Path -LiteralPath $path) { Remove-Item -Recurse -Force -LiteralPath $path }
  }
  Remove-FromPath (Split-Path $Agent)
  Remove-Installation $old
  Write-Host 'The agent is removed. At its coordinator, its owner removes it under Providers.'
}

function Remove-Installation([string] $Folder) {
  foreach ($name in 'current', 'previous') {
    $link = Join-Path $Folder $name
    # A junction is removed without what it points at.
    if ([IO.Directory]::Exists($link)) { [IO.Directory]::Delete($link) }
  }
  Remove-Item -Recurse -Force -LiteralPath $Folder
}

Install-GatewayAgent
}
