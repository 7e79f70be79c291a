/** As `randomId` makes them. Whatever else is asked for never becomes part of a path. */
const FORM = /^[0-9A-Za-z]{22}$/;

export function isAssetId(text: string): boolean {
  return FORM.test(text);
}
