/**
 * The parts of the guard that training and measuring share with it (`tools/guard-training`), so
 * that texts are read in exactly one way. Not a stable interface.
 * @module
 */
export { checkContent } from './guard.ts'
export { readViews } from './injection.ts'
export { findInvisible } from './invisible.ts'
export { FEATURE_BITS, Features } from './model/features.ts'
export { foldLexicon, Lexicon } from './model/lexicon.ts'
export { Model, shareOf } from './model/model.ts'
export { Tokens } from './model/tokens.ts'
export { digestOf, readWeights, writeWeights } from './model/weights.ts'
export type { Cuts, Weights, WeightsHeader } from './model/weights.ts'
export { WordClasses } from './model/features.ts'
export { bestStretch, share } from './model/model.ts'
export { normalize } from './normalize.ts'
export { partsOf } from './scored-parts.ts'
export { WEIGHTS } from './shipped-model.ts'
export { findHits } from './signature.ts'
export { signatureDigest, signatureIndex, signatures } from './signatures.ts'
export type { View } from './view.ts'
export { readLeet } from './views/disguises.ts'
export { Typos } from './views/disguises.ts'
export { Vocabulary } from './views/word-scan.ts'
