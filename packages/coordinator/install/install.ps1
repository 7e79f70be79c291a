# Installs gateway-agent for this user, from the coordinator that serves this script:
#
#   irm https://gateway.example.org/install.ps1 | iex
#
# Options are variables of the environment, because a script that is piped takes no arguments:
#   GATEWAY_AGENT_TOKEN   a join token (gwj_...), instead of a code to approve
#   GATEWAY_AGENT_NAME    what this machine is called
#   GATEWAY_INSTALL       service: run it as a service, without asking; no-start: do not start it;
#                         force: join again, as another provider or with a new token;
#                         uninstall: remove the agent, its service, its configuration and identity
#
# Everything is in functions, and the last line calls them: of a script that arrives in part,
# nothing runs.
Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'

$Url = @URL@
$Version = @VERSION@
# A line a file: kind, platform, name, bytes, SHA-256.
$Files = @FILES@

$Root = Join-Path $env:LOCALAPPDATA 'gateway-agent'
$Agent = Join-Path $Root 'bin\gateway-agent.cmd'

function Install-GatewayAgent {
  if ($env:GATEWAY_INSTALL -eq 'uninstall') { Uninstall-Agent; return }
  Install-Files
  Join-Coordinator
  Start-Agent
}

function Stop-Install([string] $Message) { throw "install.ps1: $Message" }

# The agent's exit code decides, not what it writes to stderr.
function Invoke-Agent([string[]] $Arguments) {
  $ErrorActionPreference = 'Continue'
  & $Agent @Arguments
  return
}

function Install-Files {
  if ((Test-Path (Join-Path $Root 'install.json')) -and (Test-Path $Agent)) {
    Write-Host "gateway-agent is installed in ${Root}: upgrading it."
    Invoke-Agent @('upgrade', '--yes')
    if ($LASTEXITCODE -ne 0) { Stop-Install 'the upgrade failed, and nothing has changed.' }
    return
  }
  $file = Select-File
  foreach ($folder in 'versions', 'bin') {
    New-Item -ItemType Directory -Force -Path (Join-Path $Root $folder) | Out-Null
  }
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
  Write-Host "gateway-agent $Version is installed in $Root."
  Add-ToPath (Split-Path $Agent)
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
  $path = [Environment]::GetEnvironmentVariable('Path', 'User')
  if (@("$path" -split ';') -contains $Folder) { return }
  [Environment]::SetEnvironmentVariable('Path', "$path;$Folder".TrimStart(';'), 'User')
  $env:Path = "$env:Path;$Folder"
  Write-Host "$Folder is added to your PATH."
}

function Get-Told {
  $text = Invoke-Agent @('status', '--json') 2>$null | Out-String
  if ($text.Trim() -eq '') { return $null }
  return $text | ConvertFrom-Json
}

function Join-Coordinator {
  $told = Get-Told
  $again = @()
  if ($env:GATEWAY_INSTALL -eq 'force') { $told = $null; $again = @('--force') }
  if ($told -and $told.url -and $told.url -ne $Url) {
    Stop-Install "the agent is installed, and belongs to $($told.url) already. To move it, set GATEWAY_INSTALL to force."
  }
  if ($told -and $told.url -and (Test-Path "$($told.config).token")) { return }
  $token = $env:GATEWAY_AGENT_TOKEN
  if ($token -like 'gwj_*') {
    Remove-Item Env:GATEWAY_AGENT_TOKEN
    $token | & $Agent enroll --url $Url --token-file - @again
  } else {
    Invoke-Agent (@('login', '--url', $Url) + $again)
  }
  if ($LASTEXITCODE -ne 0) { Stop-Install 'the agent is installed, but has not joined: see above.' }
}

function Start-Agent {
  if ($env:GATEWAY_INSTALL -eq 'no-start') { Write-Host 'Start it with: gateway-agent start --yes'; return }
  $service = $env:GATEWAY_INSTALL -eq 'service'
  if (-not $service -and [Environment]::UserInteractive -and -not [Console]::IsInputRedirected) {
    $service = (Read-Host 'Run it as a service that starts with your log-in? [Y/n]') -notmatch '^[nN]'
  }
  if (-not $service) { Invoke-Agent @('start', '--yes'); return }
  Invoke-Agent @('services', 'scan', '--add')
  if ($LASTEXITCODE -ne 0) { Stop-Install 'joined, but no model server was found: start one and run this again.' }
  Invoke-Agent @('service', 'install')
  Invoke-Agent @('wait')
}

function Uninstall-Agent {
  if (-not (Test-Path $Root)) { Stop-Install "there is no agent in $Root." }
  $told = Get-Told
  Invoke-Agent @('service', 'uninstall') 2>$null
  if ($told -and $told.config) {
    foreach ($path in $told.config, "$($told.config).token", "$($told.config).state") {
      Remove-Item -Recurse -Force $path -ErrorAction SilentlyContinue
    }
  }
  $current = Join-Path $Root 'current'
  if (Test-Path $current) { (Get-Item $current).Delete() }
  Remove-Item -Recurse -Force $Root
  $folder = Split-Path $Agent
  $path = [Environment]::GetEnvironmentVariable('Path', 'User')
  $rest = @("$path" -split ';' | Where-Object { $_ -ne $folder }) -join ';'
  [Environment]::SetEnvironmentVariable('Path', $rest, 'User')
  Write-Host 'The agent is removed. At its coordinator, its owner removes it under Providers.'
}

Install-GatewayAgent
