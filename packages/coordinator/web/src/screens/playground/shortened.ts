/** A body for display: the data of pictures, which are megabytes, is shortened. */

type Body = Readonly<Record<string, unknown>>;

const SHOWN_CHARACTERS = 48;

export function shortened(body: Body): { readonly body: Body; readonly isShortened: boolean } {
  let isShortened = false;
  const text = JSON.stringify(body, (_key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith('data:')) return value;
    if (value.length <= SHOWN_CHARACTERS) return value;
    isShortened = true;
    return `${value.slice(0, SHOWN_CHARACTERS)}…`;
  });
  return { body: JSON.parse(text) as Body, isShortened };
}
