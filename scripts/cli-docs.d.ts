/** Every page of docs/cli as it must be, and commands that no page, or more than one, shows. */
export function cliPages(): Promise<{
  pages: { file: string; is: string; expected: string }[];
  faults: string[];
}>;
