// What a review step costs: the same for the same text, so that the budget relay can be checked by hand (E20).

export interface Usage {
  readonly costUSD: number
  readonly tokens: { readonly prompt: number; readonly completion: number }
}

/** Price of a million tokens in US dollars. */
export interface TokenPrice {
  readonly promptUSD: number
  readonly completionUSD: number
}

const CHARACTERS_PER_TOKEN = 4
const DEFAULT_PRICE: TokenPrice = { promptUSD: 0.15, completionUSD: 0.6 }

/**
 * The usage of a step that read `input` and wrote `output`. Tokens are estimated at four characters
 * each, the usual figure for English: counting them exactly would take longer than the step itself.
 */
export function estimateUsage(input: unknown, output: unknown): Usage {
  return priceTokens({ prompt: tokensOf(input), completion: tokensOf(output) })
}

/** The cost of counted tokens. */
export function priceTokens(tokens: Usage['tokens'], price: TokenPrice = DEFAULT_PRICE): Usage {
  const { prompt, completion } = tokens
  return {
    tokens: { prompt, completion },
    costUSD: (prompt * price.promptUSD + completion * price.completionUSD) / 1_000_000,
  }
}

/** The usage of two steps together. */
export function addUsage(first: Usage, second: Usage): Usage {
  return {
    costUSD: first.costUSD + second.costUSD,
    tokens: {
      prompt: first.tokens.prompt + second.tokens.prompt,
      completion: first.tokens.completion + second.tokens.completion,
    },
  }
}

function tokensOf(value: unknown): number {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}
