/** What was promised; throws where it is not there in time. */
export async function orTimeout<T>(limitMs: number, promised: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1_000} s`)), limitMs);
  });
  try {
    return await Promise.race([promised, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
