import { Argument } from 'commander';

export function providerReference(): Argument {
  return new Argument('<provider>', 'id or name; OWNER/NAME where several have that name');
}
