import { z } from 'zod';

/** Characters. */
export const MAX_QUESTION = 1_000;
/** Most sources that one question may ask. */
export const MAX_SOURCES = 5;

export const SourceName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/);
