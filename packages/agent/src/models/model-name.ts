/**
 * The names of models that a coordinator may have pulled: one or two segments and perhaps a tag, as
 * `llama3.2:3b`, `user/model` or `user/model:Q4_K_M`. Servers take the part before a slash for the
 * address of a registry if it looks like one, and of three parts the first in any case.
 */
import { MAX_MODEL_NAME } from '@inference-gateway/shared/protocol/model-asks';

const NAME = /^(?:(?<owner>[^/]+)\/)?(?<model>[^/:]+)(?::(?<tag>[^/:]+))?$/;

/** Also keeps options (`-x`), hidden files (`.x`) and spaces out. */
const PART = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Without dots and colons: `hf.co`, `registry.example`, `localhost:5000`. */
const OWNER = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;

/** Why a name is none; null if it is one. */
export function nameFault(name: string): string | null {
  if (name.length > MAX_MODEL_NAME) return `it has more than ${MAX_MODEL_NAME} characters`;
  const { owner, model = '', tag } = NAME.exec(name)?.groups ?? {};
  if (model === '') {
    return 'it must be like "model", "model:tag", "owner/model" or "owner/model:tag"';
  }
  if (owner !== undefined && !OWNER.test(owner)) {
    return 'what comes before the slash may not be an address, such as hf.co or host:5000';
  }
  const parts = [model, ...(tag === undefined ? [] : [tag])];
  if (name.includes('..') || !parts.every((part) => PART.test(part))) {
    return 'it has letters, digits and . _ - only, and begins with a letter, a digit or _';
  }
  return null;
}
