import type { ConditionWarnings } from './condition-warnings.ts'
import type { Rule } from './rule.ts'

/** Warnings about probable mistakes in a rule; the rule is accepted. */
export function ruleWarnings(
  rule: Omit<Rule, 'id'>,
  effect: keyof ConditionWarnings,
  now: number,
): string[] {
  const patterns = [...rule.agents, ...rule.actions, ...rule.resources]
  return [
    ...patterns
      .filter((pattern) => pattern !== pattern.toLowerCase())
      .map(
        (pattern) => `the pattern ${pattern} has uppercase letters; patterns are case-sensitive`,
      ),
    ...(rule.expiresAt !== null && rule.expiresAt <= now ? ['the rule has already expired'] : []),
    ...(rule.condition?.warnings[effect] ?? []),
  ]
}
