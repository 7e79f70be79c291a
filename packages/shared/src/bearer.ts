/** The secret of an `Authorization: Bearer …` header, or null; the scheme's case is free. */
export function readBearer(header: string | undefined): string | null {
  return /^bearer\s+(\S+)$/i.exec(header?.trim() ?? '')?.[1] ?? null;
}
