/** What of the environment the doctor tells beside the configuration. */

/** Variables for proxies, of which only the names are to be shown: they may hold a password. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];

/** Whether the token comes from the environment, so that its file does not count. */
export function hasEnvironmentToken(): boolean {
  return isSet('GATEWAY_AGENT_TOKEN');
}

export function proxyVariables(): string[] {
  return PROXIES.flatMap((name) => [name, name.toLowerCase()]).filter(isSet);
}

function isSet(name: string): boolean {
  return (process.env[name]?.trim() ?? '') !== '';
}
