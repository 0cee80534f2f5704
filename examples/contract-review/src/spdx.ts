// Recognises known licences by the sentences that only they contain.

// The GNU licences are named in others as compatible; only their titles and their notices count.
interface Fingerprint {
  readonly id: string
  readonly needs: RegExp
  readonly and?: RegExp
  readonly without?: RegExp
}

const BSD = /redistribution and use in source and binary forms/i
const ENDORSE = /endorse or promote/i
const ADVERTISING = /all advertising materials/i
const ISC = /permission to use, copy, modify,? and(?:\/or)? distribute this software/i

const FINGERPRINTS: readonly Fingerprint[] = [
  { id: '0BSD', needs: ISC, without: /provided that the above copyright/i },
  {
    id: 'AGPL-3.0',
    needs:
      /gnu affero general public license\W+version 3,? \d|terms of the gnu affero general public license[^.]{0,120}version 3/i,
  },
  { id: 'Apache-2.0', needs: /apache license\W+version 2\.0/i },
  { id: 'BlueOak-1.0.0', needs: /blue oak model license/i },
  { id: 'BSD-2-Clause', needs: BSD, without: ENDORSE },
  { id: 'BSD-3-Clause', needs: BSD, and: ENDORSE, without: ADVERTISING },
  { id: 'BSD-4-Clause', needs: BSD, and: ADVERTISING },
  { id: 'BSL-1.0', needs: /boost software license\W+version 1\.0/i },
  { id: 'CC-BY-4.0', needs: /creative commons attribution 4\.0/i },
  { id: 'CC0-1.0', needs: /cc0 1\.0 universal|publicdomain\/zero\/1\.0/i },
  {
    id: 'GPL-2.0',
    needs:
      /gnu general public license\W+version 2,? june|terms of the gnu general public license[^.]{0,120}version 2\b/i,
  },
  {
    id: 'GPL-3.0',
    needs:
      /gnu general public license\W+version 3,? \d|terms of the gnu general public license[^.]{0,120}version 3/i,
  },
  {
    id: 'ISC',
    needs:
      /distribute this software for any purpose with or without fee is hereby granted, provided that/i,
  },
  {
    id: 'LGPL-2.1',
    needs:
      /gnu lesser general public license\W+version 2\.1,? feb|terms of the gnu lesser general public license[^.]{0,120}version 2\.1/i,
  },
  {
    id: 'LGPL-3.0',
    needs:
      /gnu lesser general public license\W+version 3,? \d|terms of the gnu lesser general public license[^.]{0,120}version 3/i,
  },
  {
    id: 'MIT',
    needs: /permission is hereby granted, free of charge, to any person obtaining a copy/i,
  },
  { id: 'MPL-2.0', needs: /mozilla public license,? (?:version|v\.?) ?2\.0/i },
  { id: 'PSF-2.0', needs: /python software foundation license version 2/i },
  { id: 'Unicode-DFS-2016', needs: /unicode, inc\. license agreement/i },
  { id: 'Unlicense', needs: /free and unencumbered software released into the public domain/i },
  { id: 'WTFPL', needs: /do what the fuck you want to public license/i },
  { id: 'Zlib', needs: /altered source versions must be plainly marked/i },
]

/**
 * The SPDX ids whose sentences occur in the text, in alphabetical order. A guess by wording, not a
 * legal opinion: a notice that places the software under a licence by name counts as that licence.
 */
export function recogniseLicences(text: string): readonly string[] {
  const flat = text.replaceAll(/\s+/g, ' ')
  return FINGERPRINTS.filter(
    ({ needs, and, without }) =>
      needs.test(flat) && and?.test(flat) !== false && without?.test(flat) !== true,
  ).map(({ id }) => id)
}

/** The SPDX expression for licences that all apply; NOASSERTION for none. */
export function spdxExpression(ids: readonly string[]): string {
  return ids.length === 0 ? 'NOASSERTION' : ids.join(' AND ')
}
