/**
 * Media reach a home machine only as `data:` URLs. A model server would fetch any other URL
 * itself, from inside the home network (seen: llama-server asks loopback addresses), so both ends
 * refuse them.
 */

/**
 * One value still to be looked at, with the way back to the body; paths are only built for an
 * offender.
 */
interface Visit {
  readonly value: unknown;
  readonly key: string | number;
  /** Whether the value, or the list that holds it, lies under a key that names a URL. */
  readonly isUrl: boolean;
  readonly parent: Visit | null;
}

/**
 * The first media URL in the messages' content that is not a `data:` URL, as the path of its field:
 * `messages[0].content[1].image_url.url`. Null where there is none.
 */
export function findForeignUrl(body: Readonly<Record<string, unknown>>): string | null {
  const { messages } = body;
  if (!Array.isArray(messages)) return null;
  const root: Visit = { value: messages, key: 'messages', isUrl: false, parent: null };
  for (const [index, message] of messages.entries()) {
    const content = contentOf(message);
    // Plain text is by far the commonest content and holds no parts.
    if (typeof content !== 'object' || content === null) continue;
    const parent: Visit = { value: message, key: index, isUrl: false, parent: root };
    const offender = firstForeign({ value: content, key: 'content', isUrl: false, parent });
    if (offender !== null) return pathOf(offender);
  }
  return null;
}

/**
 * The first field of a media request that names its picture or sound otherwise than by a `data:`
 * URL: a path would be read from the owner's disk.
 */
export function findForeignMedia(body: Readonly<Record<string, unknown>>): string | null {
  for (const [key, value] of Object.entries(body)) {
    const offender = firstForeign({ value, key, isUrl: isMediaKey(key), parent: null });
    if (offender !== null) return pathOf(offender);
  }
  return null;
}

/** Depth first with its own stack: a body nested a million deep must not end the process. */
function firstForeign(start: Visit): Visit | null {
  const stack = [start];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { value } = visit;
    if (typeof value === 'string' && visit.isUrl && !isDataUrl(value)) return visit;
    if (typeof value === 'object' && value !== null) pushChildren(stack, visit, value);
  }
  return null;
}

/** In reverse, so that the first child is looked at first. */
function pushChildren(stack: Visit[], parent: Visit, value: object): void {
  if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index--) {
      stack.push({ value: value[index], key: index, isUrl: parent.isUrl, parent });
    }
    return;
  }
  for (const [key, child] of Object.entries(value).toReversed()) {
    stack.push({ value: child, key, isUrl: isUrlKey(key), parent });
  }
}

function contentOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'content' in message
    ? message.content
    : null;
}

function isUrlKey(key: string): boolean {
  const name = key.toLowerCase();
  return name === 'url' || name.endsWith('_url');
}

/** `image`, `init_image`, `images`, `mask_image`, `reference_audio` … */
function isMediaKey(name: string): boolean {
  return isUrlKey(name) || /(^|_)(image|mask|audio|video)s?$/i.test(name);
}

function isDataUrl(value: string): boolean {
  return value.slice(0, 5).toLowerCase() === 'data:';
}

function pathOf(visit: Visit): string {
  const steps: string[] = [];
  for (let at: Visit | null = visit; at !== null; at = at.parent) {
    steps.push(typeof at.key === 'number' ? `[${at.key}]` : `.${at.key}`);
  }
  return steps.toReversed().join('').slice(1);
}
