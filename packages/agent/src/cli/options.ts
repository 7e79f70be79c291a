/** Options that several commands have. */
import { Option } from 'commander';

export interface ConfigOption {
  readonly config?: string;
}

export interface JsonOption {
  readonly json?: boolean;
}

export function configOption(): Option {
  return new Option('--config <file>', 'the configuration (GATEWAY_AGENT_CONFIG)');
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON, documented in docs/cli.md');
}

/** What `addHelpText('after', …)` takes. */
export function example(line: string): string {
  return `\nExample:\n  gateway-agent ${line}`;
}
