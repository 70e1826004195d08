/**
 * Full case folding of the Unicode Standard (section 3.13, C and F mappings): texts that differ
 * only in case fold to the same text, including STRASSE and straße. Not for display.
 *
 * JavaScript has no such function. Lower, upper, lower gives every mapping of the table, except
 * that the dotless ı must stay itself and that a final ς must become σ.
 */
export function foldCase(text: string): string {
  return text
    .split('ı')
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ς', 'σ')
}
