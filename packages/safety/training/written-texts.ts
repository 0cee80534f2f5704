// Texts put together from sentences with alternatives, the same ones each time.

/** For each kind of text what may stand at its beginning, in its middle, and at its end; `(one|other)` is one of some. */
export type Kinds = Readonly<Record<string, readonly (readonly string[])[]>>

/** So many texts of each kind: of each part one or two sentences. */
export function writeTexts(kinds: Kinds, perKind: number, random: () => number): string[] {
  return Object.values(kinds).flatMap((parts) =>
    Array.from({ length: perKind }, () =>
      parts
        .flatMap((choices) => pickSome(choices, random))
        .map((sentence) => chooseIn(sentence, random))
        .join(' '),
    ),
  )
}

/** One or two of some sentences, in their order or not. */
function pickSome(choices: readonly string[], random: () => number): string[] {
  const first = choices[random() % choices.length] ?? ''
  const second = choices[random() % choices.length] ?? ''
  return first === second || random() % 2 === 0 ? [first] : [first, second]
}

const ALTERNATIVES = /\(([^()|]*(?:\|[^()|]*)+)\)/gu

const chooseIn = (sentence: string, random: () => number): string =>
  sentence.replace(ALTERNATIVES, (_, inner: string) => {
    const choices = inner.split('|')
    return choices[random() % choices.length] ?? ''
  })
