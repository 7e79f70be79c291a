/**
 * Commands for the machine with the GPU. With `--no-install`, npx runs the program that is built in
 * the checkout: elsewhere it would fetch a package that others may publish under this name.
 */

const START = 'npx --no-install gateway-agent start --yes';

/** The agent reads the token from stdin: all users of the machine can see arguments. */
export function enrollCommand(url: string, token: string, isAgain: boolean): string {
  const force = isAgain ? ' --force' : '';
  const enroll = `npx --no-install gateway-agent enroll --url ${url} --token-file -${force}`;
  return `echo ${token} |\n  ${enroll}\n${START}`;
}

/** Without a token: the machine shows a code instead. */
export function logInCommand(url: string): string {
  return `npx --no-install gateway-agent login --url ${url}\n${START}`;
}
