/** The rows of the first Markdown table with this first heading; each cell is trimmed. */
export function tableRows(markdown: string, firstHeading: string): string[][] {
  const lines = markdown.split('\n');
  const heading = lines.findIndex(
    (line) => line.startsWith('|') && cells(line)[0] === firstHeading,
  );
  if (heading === -1) throw new Error(`no table starts with the heading "${firstHeading}"`);
  const below = lines.slice(heading + 2);
  const end = below.findIndex((line) => !line.startsWith('|'));
  return below.slice(0, end === -1 ? below.length : end).map(cells);
}

/** Every table of a text; the first row has the headings. */
export function allTables(markdown: string): string[][][] {
  const blocks = markdown.split('\n\n').filter((block) => block.startsWith('|'));
  return blocks.map((block) => {
    const [headings = '', , ...rows] = block.trim().split('\n');
    return [headings, ...rows].map(cells);
  });
}

function cells(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());
}
