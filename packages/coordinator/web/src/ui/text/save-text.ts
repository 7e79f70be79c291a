/** The browser reads the file after this turn of the event loop, and within this time. */
const READ_MS = 10_000;

/** Saves a text, or parts of one, as a file of this name. */
export function saveText(name: string, type: string, text: string | readonly string[]): void {
  const url = URL.createObjectURL(new Blob([text].flat(), { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), READ_MS);
}
