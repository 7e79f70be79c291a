import * as z from 'zod';

/** Checks the form only. Whether the address exists is not checked. */
export const emailAddress = z
  .string()
  .max(254)
  .regex(/^[^\s@/\p{C}]+@[^\s@/\p{C}]+$/u, 'an e-mail address is written like anna@example.org');
