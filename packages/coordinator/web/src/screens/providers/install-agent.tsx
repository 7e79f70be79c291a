import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { Segments } from '../../ui/form/field.js';
import { Code } from '../../ui/text/code.js';

interface InstallAgentProps {
  /** A join token; without one, the machine shows a code instead. */
  readonly token?: string;
  /** The machine has an agent, which gets a new identity. */
  readonly isAgain?: boolean;
}

const SYSTEMS = [
  { value: 'unix', label: 'Linux and macOS' },
  { value: 'windows', label: 'Windows' },
] as const;

type System = (typeof SYSTEMS)[number]['value'];

/** What to paste on the machine with the GPU. */
export function InstallAgent({ token, isAgain = false }: InstallAgentProps) {
  const [system, setSystem] = useState<System>('unix');
  const { public_url: url, agent_version: version } = currentSession().gateway;
  if (version === null) {
    return (
      <>
        <p class="soft small">In a copy of the program there, built with npm:</p>
        <Code text={checkoutCommands(url, { token, isAgain })} label="Copy the commands" />
      </>
    );
  }
  const line = system === 'unix' ? shellLine : powerShellLine;
  const shell = system === 'unix' ? 'in a terminal' : 'in PowerShell';
  return (
    <>
      <div>
        <Segments label="System" value={system} options={SYSTEMS} onValue={setSystem} />
      </div>
      <Code text={line(url, { token, isAgain })} label="Copy the command" />
      <p class="soft small">
        Run it {shell}, as the user who runs the model servers. It installs agent {version} for that
        user, from this gateway, and needs no privileges.
      </p>
    </>
  );
}

interface Joining {
  readonly token: string | undefined;
  readonly isAgain: boolean;
}

/** The token is a variable: all users of the machine can see arguments. */
function shellLine(url: string, { token, isAgain }: Joining): string {
  const variable = token === undefined ? ' ' : `\n  GATEWAY_AGENT_TOKEN=${token} `;
  return `curl -fsSL ${url}/install.sh |${variable}sh${isAgain ? ' -s -- --force' : ''}`;
}

function powerShellLine(url: string, { token, isAgain }: Joining): string {
  const variables = [
    ...(token === undefined ? [] : [`$env:GATEWAY_AGENT_TOKEN='${token}'; `]),
    ...(isAgain ? ["$env:GATEWAY_INSTALL='force'; "] : []),
  ];
  return `${variables.join('')}irm ${url}/install.ps1 | iex`;
}

/**
 * For a gateway that hands out no agent. With `--no-install`, npx runs the program that is built in
 * the checkout: elsewhere it would fetch a package that others may publish under this name.
 */
function checkoutCommands(url: string, { token, isAgain }: Joining): string {
  const program = 'npx --no-install gateway-agent';
  const start = `${program} start --yes`;
  if (token === undefined) return `${program} login --url ${url}\n${start}`;
  const force = isAgain ? ' --force' : '';
  return `echo ${token} |\n  ${program} enroll --url ${url} --token-file -${force}\n${start}`;
}
