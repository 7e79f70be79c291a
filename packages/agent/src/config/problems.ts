/** Describes faults of a configuration: field path, value, and the allowed values. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { ExitCode } from '@inference-gateway/shared/program/command-error';
import { didYouMean, nearest } from '@inference-gateway/shared/nearest';
import type * as z from 'zod';

const MAX_SHOWN_CHARACTERS = 80;

interface Document {
  readonly document: unknown;
  /** The keys that an object may have, by its path without indexes: `services.models`. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
}

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;

/** One line per fault. */
export function describeIssues(issues: readonly Issue[], file: Document): string[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return unknownKeys(issue, file);
    const value = valueAt(file.document, issue.path);
    return [problem(pathText(issue.path), value, demandOf(issue, value))];
  });
}

/** `slots is 0: it must be at least 1`. */
export function problem(where: string, value: unknown, demand: string): string {
  if (value === undefined) return `${where} is missing: ${demand}`;
  return `${where} is ${show(value)}: ${demand}`;
}

/** `allowed values are llm, stt`, with a suggestion for a mistyped value. */
export function choice(value: unknown, allowed: readonly string[]): string {
  const meant = typeof value === 'string' ? nearest(value, allowed)[0] : undefined;
  const hint = meant === undefined ? '' : `. Did you mean ${meant}?`;
  return `allowed values are ${allowed.join(', ')}${hint}`;
}

/** The error for a faulty configuration; names the source once. */
export function configError(
  source: string,
  problems: readonly string[],
  exitCode: ExitCode = EXIT.usage,
): CommandError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new CommandError(
    exitCode,
    `${source} has ${count}:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  );
}

function unknownKeys(
  issue: Extract<Issue, { code: 'unrecognized_keys' }>,
  file: Document,
): string[] {
  const place = issue.path.filter((step) => typeof step !== 'number').join('.');
  const known = file.keys[place] ?? [];
  return issue.keys.map((key) => {
    const hint = didYouMean(key, known) ?? `known here are ${known.join(', ')}`;
    return `${pathText([...issue.path, key])} is unknown: ${hint}`;
  });
}

function demandOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `it must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return choice(value, issue.values.map(String));
    case 'too_small':
      return issue.origin === 'string'
        ? 'it must not be empty'
        : `it must be at least ${issue.minimum}`;
    case 'too_big':
      return `it must ${TOO_BIG[issue.origin] ?? 'be'} at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list in [ ]',
  object: 'an object in { }',
};
const TOO_BIG: Readonly<Record<string, string>> = {
  string: 'have a length of',
  array: 'have a length of',
};

function pathText(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return path.length === 0 ? 'the whole file' : text.join('').replace(/^\./, '');
}

function valueAt(document: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
    document,
  );
}

function show(value: unknown): string {
  // A password in a URL must not reach a log.
  const text = JSON.stringify(value).replaceAll(/\/\/[^/@"]*@/g, '//…@');
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS)}…`;
}
