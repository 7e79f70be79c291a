import * as z from 'zod';

/** One that could be somebody's; whether it is, only a letter can tell. */
export const emailAddress = z
  .string()
  .max(254)
  .regex(/^[^\s@/\p{C}]+@[^\s@/\p{C}]+$/u, 'an e-mail address is written like anna@example.org');
