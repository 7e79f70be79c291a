/** Ends a switch over a union: the compiler proves that no member is left. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
