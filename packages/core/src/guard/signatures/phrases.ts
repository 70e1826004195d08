/** Alternatives that several signatures share, for use inside a group. */

/** Verbs of overriding, as an opening. */
export const CAST_ASIDE =
  "ignore|ignoring|disregard|disregarding|forget|forgetting|override|overriding|overwrite|bypass|bypassing|overlook|neglect|dismiss|discard|abandon|erase|wipe|cancel|drop|scrap|reset|void|nullify|suspend|supersede|delete|unlearn|throw out|throw away|cast aside|set aside|put aside|stop following|stop obeying|do not follow|do not obey|do not comply with|do not adhere to|don't follow|don't obey|don't comply with|refuse to follow|no longer follow|no longer obey|pay no attention to|never mind|leave behind|disobey|negate|revoke|remove|clear|skip|replace"

/** Statements about overriding or revealing, which are not instructions. */
const WHO = 'i|we|one|they|people|engineers|employees|staff|users|admins|visitors|readers'
export const DISCUSSED = [
  String.raw`(?:mean|means|decided|chose|choice|safe|possible|not|us|when|how|unable|employees|staff|users)\sto\s`,
  String.raw`(?:do|can|may|must|should|when)\s(?:${WHO})\s(?:not\s)?`,
  String.raw`(?:${WHO})\s(?:(?:may|must|can|should|will)\s)?(?:not\s)?`,
  String.raw`(?:sentence|phrase|words?)\s['"](?:please\s)?`,
].join('|')

/** Words for earlier text. */
export const PRIOR =
  'previous|previously|prior|above|preceding|earlier|initial|original|existing|pre-existing|former|past|foregoing|aforementioned|preset|starting|old'

/** Words for the owner of the model. */
export const OWNED = 'your|system|developer|hidden|internal|default|built-in|safety|core|openai'

/** Words for the instructions of the owner. */
export const INSTRUCTIONS =
  'instructions?|prompts?|rules?|guidelines?|directives?|commands?|orders?|directions?|constraints?|restrictions?|policy|policies|programming|guardrails?|safeguards?|protocols?|limits?|limitations?|filters?|training'

/** The same and related words; too frequent without a word like "previous". */
export const CONTEXT = `${INSTRUCTIONS}|messages?|context|text|conversation|settings|configuration|requests?|tasks?|chat|input|content`

/** Verbs of revealing, as an opening. */
export const GIVE_OUT =
  'reveal|show|print|output|display|repeat|tell|give|share|leak|expose|dump|disclose|list|write|provide|return|recite|paste|echo|copy|export|describe|spell|summarize|summarise|translate|encode|convert|send|reproduce|restate|recall|quote|type|re-emit|format|explain|clarify|rephrase|paraphrase|embed'

/** Words for programs that read text on behalf of a user. */
export const MODEL =
  'ai|llm|llms|gpt|chatgpt|copilot|gemini|claude|chatbot|language model|ai model|ai models|ai agents?|ai assistants?|ai systems?|virtual assistant|automated reader|automated agents?|bots?'
