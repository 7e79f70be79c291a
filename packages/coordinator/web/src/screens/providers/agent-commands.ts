/**
 * What is typed where the GPU is, as the agent's own command line wants it. With `--no-install` npx
 * runs what is built in the checkout: outside one it would fetch what others publish by this name.
 */

const START = 'npx --no-install gateway-agent start --yes';

/** It reads the token from its input: a secret among the arguments is seen by everybody there. */
export function enrollCommand(url: string, token: string, isAgain: boolean): string {
  const force = isAgain ? ' --force' : '';
  const enroll = `npx --no-install gateway-agent enroll --url ${url} --token-file -${force}`;
  return `echo ${token} |\n  ${enroll}\n${START}`;
}

/** Without a token: the machine shows a code. */
export function logInCommand(url: string): string {
  return `npx --no-install gateway-agent login --url ${url}\n${START}`;
}
