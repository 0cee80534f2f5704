// What a token costs here: the same for all four, so that everybody can add it up.

/** US dollars; whole millionths of one. */
export const COST_USD = ({ prompt, completion }: { prompt: number; completion: number }): number =>
  (prompt * 100 + completion * 400) / 1_000_000
