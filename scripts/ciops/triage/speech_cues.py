"""Words that tell what a clause does with the thing it names, as bounded patterns.

English, with the common turns of Japanese, Chinese and French. `BEFORE` patterns end where the
mention starts, `AFTER` patterns start where it ends; code marks are stripped before.
"""

from __future__ import annotations

from typing import Final

from ciops.triage.cue import Cue, cue

_VERSION = r"(?:\s?[\d.]{1,8})?"
_LIST = r"(?:\s?(?:,|/|and|or|nor|\+|&)\s?(?-i:[\w.-]{0,20}[A-Z_\d][\w.-]{0,20})){0,4}"
"""Further members of a list that the mention opens: `X, Y and Z aren't involved`."""

SENTENCE_END: Final[Cue] = cue(r"[.!?](?=[\s)\"'*_]|$)", r"[;。！？]", r"\s[-–—]{1,2}\s", r"\n")
CLAUSE_END: Final[Cue] = cue(
    r"[,:(、，]", r"\)",
    r"\b(?:but|however|although|though|while|whereas|because|since|so|and then|yet)\b",
    "が、|ので、|けど|但是?|mais\\b",
)  # fmt: skip

HEDGE: Final[Cue] = cue(
    r"\bi(?:'d)? (?:would )?(?:think|guess|suspect|assume|believe|suppose|wonder)\b",
    r"\b(?:maybe|perhaps|possibly|probably|might|may be|could be|not sure|no idea|my guess"
    r"|unsure)\b",
    r"\b(?:that|which|it|this) (?:can|could|may|might) (?:also )?(?:make|cause|lead|break|fail"
    r"|affect|explain|trigger|produce|give|result)\b|\bwe know of\b|\bsounds? like\b",
    r"\b(?:suspicion|hunch|supposedly|presumably|likely|seems? like)\b",
    "と思い|と思わ|かもしれ|でしょうか|おそらく|可能|也许|peut-être|je pense|sans doute",
)
ASKS: Final[Cue] = cue(
    r"[?？]", "でしょうか",
    r"^\W{0,4}(?:please )?(?:try|check|set|run|use)\b",
)  # fmt: skip

# ---------------------------------------------------------------------------------- clearing
_NOT = (
    r"(?:not|isn'?t|wasn'?t|aren'?t|never|neither|nor|rather than|instead of|as opposed to"
    r"|unrelated to|independent(?:ly)? of|nothing to do with|regardless of|other than|except"
    r"|besides|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)|exonerates?|irrelevant to|nothing"
    r" (?:(?:wrong|to (?:fix|change|repair|mend|do|see|blame)) )?(?:in|with|about)"
    r"|no (?:bugs?|faults?|problems?|issues?|defects?|errors?|mistakes?) (?:in|with|of|on)"
    r"|(?:don'?t|do not) (?:think|believe|blame)|doubt)"
)
_NOT_LINKS = (
    r"(?:(?:a|an|the|any|really|just|only|actually|even|necessarily|specific|specifically|due"
    r"|caused"
    r"|by|in|on|about|with|from|related|to|of|at|our|torch'?s|pytorch'?s|raw|plain|pure"
    r"|involves?|be"
    r"|being|because|parts?|anything|fault|problem|issue|bug|inside|limited|level|itself|as"
    r"|it'?s|is"
    r"|that|use|using|touch|need)\s{1,2}){0,5}"
)
NEGATED_BEFORE: Final[Cue] = cue(
    rf"\b{_NOT}\s{{1,2}}{_NOT_LINKS}$",
    r"(?:不是|并非|没有(?:用|使用|看到|出现|发现|遇到)?|未见).{0,4}$",
    r"pas (?:de |du |un |une |le |la )?$",
)
_FINE = (
    r"(?:fine|ok(?:ay)?|correct(?:ly)?|good|well|expected|healthy|innocent|clean(?:ly)?"
    r"|normal(?:ly)?"
    r"|works?|smoothly|right(?: (?:way|result|answer|value|thing|number)s?)?|happy)"
)
_SKIP = (
    r"(?:(?!(?:if|when|while|unless|because|since|but|that|which|where|once|until|whenever)\b)"
    r"[\w/.-]{1,24},?\s{1,2}){0,4}?"
)
CLEARED_AFTER: Final[Cue] = cue(
    rf"^{_LIST}(?:(?:'s)?\s{{0,2}}{_SKIP}(?:is|are|was|were)(?:n'?t| not) (?:even |really "
    r"|actually |at all )?"
    r"(?:involved|the (?:cause|problem|issue|culprit|reason|bug|point)|at fault|to blame"
    r"|relevant|used|special|required|necessary"
    r"|needed|related|a factor|imported|initiali[sz]ed(?! (?:properly|correctly))|here)\b"
    rf"|\s{{0,2}}{_SKIP}(?:(?:works?|worked|passe[sd]|runs?|ran|behaves?|trains?|does|is|are|was"
    r"|were|looks?|goes|went|finishe[sd]|complete[sd]?|succeeds?|converges?|gives|gave|shows?"
    r"|reports?)\s(?:it |this |both |all |just |perfectly |totally |completely |absolutely |still "
    rf"|the |always |as |entirely |also |out )*{_FINE}\b"
    r"|(?:works?|worked|runs?|ran|trains?|goes|went) great\b"
    r"|(?:works?|passe[sd]?|runs?|ran|does|is|are|gives?|shows?) (?:\w{1,12} )?(?:without|no) "
    r"(?:an? |any )?(?:error|problem|issue|hang|crash|trouble|hitch)"
    r"|(?:works?|pass(?:es)?|succeeds?)(?:\s{0,2}$|\s{0,2}[,.;:)]"
    r"|\s(?:here|there|too|with|in|on|for me|and|every|as)\b))"
    r"|\s{0,2}(?:itself )?(?:has|have|had) nothing to do|\s{0,2}plays? no (?:role|part)"
    r"|\s(?:is|are) (?:irrelevant|unrelated|incidental|innocent|an? (?:red herrings?|bystanders?)"
    r"|out of the picture|off the hook|coincidental))",
    r"^\s(?:is|are) (?:only|just|merely|simply) (?:the |a |an |being )?(?:caller|client"
    r"|messenger|launcher"
    r"|wrapper|transport|doing|reporting|where|how|used|user|context|victim|symptom|surfacing"
    r"|there to|what)\b",
    r"^\s(?:is|are|was) (?:right|correct) (?:to|in|about|here)\b",
    r"^\s(?:does|do)(?:n'?t| not) (?:matter|play|cause|seem to matter|enter|come into)",
    r"^.{0,40}\bmakes? no difference|^\smakes? it no",
    r"^\s(?:gives?|gave|shows?|showed|has|have|had|hits?|fails? with|gets?|behaves?"
    r"|is) (?:exactly |just |precisely )?(?:the same|identical|unaffected|not affected)",
    r"^\s?\|\s{0,3}(?:no|not|none|✗|❌|✘|unaffected|ok|works|fine|passes)\b",
    r"^\s?[:=]\s{0,3}(?:no(?=\s?$|\s?[.,;|)])|works|ok|fine|passes|good|✓|✅|not used"
    r"|unaffected)\b",
    r"^.{0,4}は(?:.{0,4})?(?:正常|問題な|関係な|使って(?:い|おり))ま?|^.{0,3}の問題では(?:な|あり)|^.{0,3}(?:正常|没问题|没有问题"
    r"|无关)",
)

_IN_VERSION = r"\b(?:on|in|with|under|until|till|before|at|up to)\s(?:[\w-]{1,16}\s)?v?\d{1,2}\.\d"
VERSION_AFTER: Final[Cue] = cue(rf"^[^,;:(]{{0,60}}?{_IN_VERSION}")
VERSION_BEFORE: Final[Cue] = cue(rf"{_IN_VERSION}[\w.+]{{0,12}},?\s$")

# ------------------------------------------------------------------------------- elimination
WITHOUT_BEFORE: Final[Cue] = cue(
    r"\b(?:without|w/o|minus|bypass(?:ing|ed)?|no|(?:remov|disabl|dropp?|replac|unwrapp?|skipp?"
    r"|tak)(?:e|es|ed|ing|en)(?: away| out)?"
    r"|turn(?:ed|ing)? off|switch(?:ed|ing)? off|get(?:ting)? rid of|sans|leav(?:e|ing) out"
    r"|strip(?:ped|ping)?|stop(?:ped)? using)"
    r"\s{1,2}(?:(?:a|an|the|any|all|wrapping|wrapped|in|with|using|use|of|from|its?|plain|my|our"
    r"|layer)\s{1,2}){0,4}$",
)
OFF_AFTER: Final[Cue] = cue(
    r"^\s{0,2}(?:=\s?(?:false|0|none|off)\b|(?:is |was |being |set to |turned |switched )?(?:off"
    r"|disabled|removed|commented out|(?:set to )?false)\b)",
    r"^.{0,4}(?:なし|を使わな|を外|を無効)",
)
_TROUBLE = (
    r"(?:error|problem|issue|hang|crash|failure|symptom|nan|deadlock|leak|drift|difference"
    r"|mismatch|exception|timeout)s?"
)
WORKS: Final[Cue] = cue(
    r"\b(?:still |also |it |that )?(?:works?|worked|finishe[sd]|complete[sd]"
    r"|succeeds?|succeeded|trains|converges?)\b",
    r"\b(?<!is )(?<!are )(?<!was )(?<!be )(?<!being )pass(?:es|ed)\b(?! (?:in|to|as|are|were|via|by"
    r"|into|on|a|an|the|its|it|this|that|them|both|none|wrong|only|along|down|around|over|two|one"
    r"|through|\w{1,20} to)\b)",
    rf"\b(?:everything|it|that|this|all|loss|results?|output|grads?|gradients?|values?"
    rf"|numbers)\b.{{0,16}}\b(?:is|are|'s|was|were|looks?) (?:just |all |perfectly |again "
    rf"|still )?{_FINE}\b",
    rf"'s (?:just |all |perfectly |the )?{_FINE}\b",
    rf"\b(?:is|are|was|were|looks?|behaves?) (?:just |all |perfectly |again |still )?{_FINE}\b",
    r"\b(?:fine|ok(?:ay)?|as expected|right (?:result|answer|numbers?|values?|way)"
    r"|correct (?:result|answer|values?|output)s?|matches|helps|fast|gets? (?:me|us|you) going"
    r"|fixes)\b",
    rf"\b{_TROUBLE}\b.{{0,12}}\b(?:go|goes|went|gone|disappear(?:s|ed)?|vanish(?:es|ed)?|stops?"
    rf"|stopped)\b",
    r"\b(?:goes|go|went) away\b|\bdisappear(?:s|ed)?\b|\bvanish(?:es|ed)?\b|\bis gone\b",
    r"\b(?:has|have|had|shows?|gives?|sees?|got) no"
    r" (?!difference|change|effect|luck|idea|way|influence|impact|help|longer)\w+",
    rf"\b(?<!made )(?<!make )(?<!makes )(?:no|not|never|doesn'?t|does not|didn'?t|won'?t"
    rf"|no longer|without)\b.{{0,16}}\b(?:{_TROUBLE}|fail|happen|occur|reproduce|diverge|freez"
    rf"|froze|stall|hung|stuck)\w{{0,3}}\b",
    "正常|問題な|动作正常|fonctionne|没问题",
)
FAILS: Final[Cue] = cue(
    r"\b(?:still|also|too|as well|even|likewise|identical(?:ly)?|no (?:difference|change|effect"
    r"|luck)|regardless|either|persist\w{0,3}|again|to no avail|in vain)\b",
    rf"\bsame (?:\w{{1,12}} )?(?:{_TROUBLE}|place|way|result|thing|behaviou?r|story|picture|here"
    rf"|line|step|point|stack|trace\w{{0,5}}|message)\b|\bthe same (?:happens|occurs|goes|holds"
    rf"|applies)\b|\bthe same\s{{0,2}}(?:[.,;:)]|$|here|there|as|for|on|with)",
    r"\b(?:do(?:es)?(?:n'?t| not)|didn'?t|did not|not) (?:help|change|matter|make a difference)\b"
    r"|\bchange[sd]? nothing\b|\bnothing change[sd]\b",
    r"\b(?:reproduces?|reproducible|fails?|failed|failing|hangs?|hung|crash(?:es|ed)?|breaks?"
    r"|broken|wrong|errors?|raises?|throws?|stuck|nan|deadlocks?|diverges?|dies|incorrect"
    r"|slow(?:er)?|leaks?|garbage|zeros?)\b",
    "同じ|変わ(?:ら|り)|一样|仍然|toujours|pareil|失敗|落ち|エラー|失败|报错|échoue",
)
ALIKE: Final[Cue] = cue(
    r"(?:same|also|too|as well|likewise|identical(?:ly)?|no (?:difference|change|effect)|either"
    r"|the same)\b",
    r"(?:do(?:es)?(?:n'?t| not)|didn'?t|did not|not) (?:help|change|matter|make a difference)"
    r"|change[sd]? nothing|nothing change[sd]",
    "同じ|変わ|一样|pareil",
)
WITH_BEFORE: Final[Cue] = cue(
    r"\b(?:with|using|under|on|in|via|through|inside|same with|over|by|for|of|from)\s{1,2}"
    r"(?:(?:a|an|the|plain|pure|raw|just|only|vanilla|regular|normal|old|single|bare|alone|both"
    r"|either|our|hand-?written|manual)\s{1,2}){0,3}$",
)
LOCATED_BEFORE: Final[Cue] = cue(
    r"\b(?:in|inside|of|for|on|from)\s{1,2}(?:(?:a|an|the)\s{1,2})?$",
)
_WITH = (
    r"\s{1,2}(?:\w{1,12}\s{1,2}){0,3}?(?:with|on|under|using|in|for)\s{1,2}"
    r"(?:(?:a|the|plain|both|either|pure)\s{1,2}){0,2}$"
)
SAME_WITH_BEFORE: Final[Cue] = cue(rf"\b(?:same|identical|also|too|likewise){_WITH}")
FAILS_WITH_BEFORE: Final[Cue] = cue(rf"\b(?:reproduces?|happens?|hangs?|fails?|crashes){_WITH}")
"""That it fails with one of several: with another one in play, that it fails alike."""
OWN_VERSION_AFTER: Final[Cue] = cue(
    r"^(?:[ (]{1,2}|==)(?:versions? |v|[<>=~]{1,2} ?){0,2}\d{1,2}\.\d[\w.+-]{0,16}\)?",
)
"""The thing's own version: `x 2.26.2`, `x (2.26)`, `x <= 2.30`."""
CHANGED_BEFORE: Final[Cue] = cue(
    r"\b(?:(?:upgrad|downgrad|updat|bump|chang|switch|pinn?)(?:e|es|ed|ing)"
    r"|(?:rolling|rolled|going|went) back|newer|older|another|later|earlier)"
    r"\s(?:(?:to|the|our|only|a|an|newer|older|another|version of)\s){0,3}$",
)
"""Another version of the thing was tried: `upgrading x to 2.26`."""
TOO_AFTER: Final[Cue] = cue(
    r"^(?: backend)?,? (?:too|as well|also|likewise|has it too|fails? too|hangs? too|does (?:it"
    r"|the same)|shows? (?:it|the same)|behaves the same|(?:is )?(?:equally|just as) (?:bad"
    r"|broken|slow|wrong))\b",
    "^.{0,3}(?:でも同じ|也(?:一样|会|有))",
)
ONLY_WITH_BEFORE: Final[Cue] = cue(
    r"\b(?:only|just|exclusively|specific to|specifically|unique to|triggered by|as soon as (?:i"
    r"|we) (?:add|use|enable))"
    r"\s{0,2}(?:(?:with|in|under|for|when|on|if|happens?|fails?|using|i|we|use|the|reproduces?"
    r"|occurs?|affects?|to)\s{1,2}){0,5}$",
)

# ----------------------------------------------------------------------------------- blaming
_PLACE = (
    r"(?:(?:here|there|now) )?(?:(?:is|was|are|were|lies|must be|being|seems(?: to be)?|would be"
    r"|turns out(?: to be)?) )?(?:(?:actually|really|clearly|rather|likely|probably) )?(?:(?:in"
    r"|inside|within|with|from|on|by|to|of|at|due to|how|that|because of) )?"
)
_OF = (
    r"(?:(?:a|an|the|in|our|torch'?s|pytorch'?s|some|one|how|that|of|du|de|la|le|un"
    r"|une)\s{1,2}){0,4}$"
)
BLAME_BEFORE: Final[Cue] = cue(
    r"\b(?:bug|issue|problem|regression|defect|race|deadlock|leak|fault|culprit|cause|failure"
    r"|mistake|bottleneck|limitation|reason|wrong|broken"
    r"|breakage|fix|fixed|lies|lives|sits|belongs|comes|came|originates?|stems?|caused|due"
    r"|because|thanks)\s{1,2}" + _PLACE + _OF,
    r"\b(?:turn(?:s|ed) out (?:to be|it (?:is|was|'s)|that)|turned out|treat (?:this"
    r"|it)(?: one)? as|consider (?:this|it)|re-?label(?:ed|ing)? (?:this |it )?(?:as|to)"
    r"|(?:this|it|that|which)(?: one)?(?:'s| is| was)(?: really| actually| clearly| just| rather"
    r"| simply| purely| in fact| then)?|blame[sd]?|blaming"
    r"|traced (?:it |this )?(?:back )?to|narrowed (?:it |this )?(?:down )?to|points? (?:at|to)"
    r"|looks like|bisected (?:it )?to|boils down to|comes down to|must be"
    r"|il s'agit|vient de|à cause de)\s{1,2}" + _OF,
    "(?:原因は|問題は|实际上是|其实是)$",
)
BLAME_AFTER: Final[Cue] = cue(
    r"^(?:'s)?\s(?:[\w/-]{1,24}\s){0,2}?(?:bug|issue|problem|regression|defect|deadlock"
    r"|race)\b(?! of| with)",
    r"^(?:'s)?\s(?:[\w/-]{1,24}\s){0,3}?(?:is|was|are|seems|looks) (?:clearly |really |totally "
    r"|completely |currently |simply )?(?:broken|wrong|buggy|to blame|at fault|the (?:culprit"
    r"|problem|cause|one|reason|bottleneck)|incorrect|unaware|confused)\b",
    r"^\sside\b|^.{0,3}(?:の(?:バグ|不具合)|が原因|的(?:bug|问题))",
)
DEFECT_VERB: Final[Cue] = cue(
    r"^\s(?:[\w-]{1,20}\s){0,2}(?:message|warning|help|output|default|option|argument|flag"
    r"|exit code|log)s?\s(?:is |are )?(?:wrong|misleading|confusing|unclear|missing|ignored"
    r"|broken|lost)\b",
    r"^(?:/[\w]{1,20})?(?:'s)?\s(?:[\w./-]{1,40}\s){0,2}?(?:does(?:n'?t| not)|do(?:n'?t| not)"
    r"|never|fails?|failed|forgets?|forgot|should(?:n'?t| not)?|must(?: not)?|can'?t|cannot"
    r"|won'?t"
    r"|breaks?|loses?|drops?|ignores?|mishandles?|crash(?:es)?|hangs?|deadlocks?|dies|stalls?"
    r"|blocks?|returns?|raises?|throws?|leaks?|doubles?|corrupts?"
    r"|miscomputes?|assumes?|used|uses|picks?|picked|computes?|allocates?|allocated|keeps?"
    r"|holds?|skips?|overwrites?|emits?|produces?|gives|needs|refuses?|rejects?|reports?"
    r"|times out"
    r"|(?![a-z]*ss\b)(?!(?:jobs|scripts|runs|logs|options|flags|args|arguments|processes|workers|users|docs"
    r"|tests|params|parameters|weights|gradients|grads|units|modules|models|groups|errors|issues"
    r"|hooks|buckets|states|shards|meshes|ranks|nodes|layers|tensors|versions|kernels|is|was|has"
    r"|as|does|this|its|plus|less|across|always|sometimes|things|modes|ops|calls|steps|buffers"
    r"|tutorials|examples|wrappers|classes|strategies|stages|schedules|settings|checkpoints"
    r"|checkpointing)\b)[a-z]{3,12}s"
    r"|is (?:not|never)|isn'?t|are not|aren'?t|has no|lacks|sends?|calls?|reads?|writes?"
    r"|silently|wrongly|incorrectly|frees|races?|registers?|resets?|reuses?|copies|casts?"
    r"|converts?"
    r"|reorders?|shards?|gathers?|reduces?|broadcasts?|double-\w{3,12}|mis\w{3,12}"
    r"|over\w{4,12}s)\b",
)
AGENT_BEFORE: Final[Cue] = cue(
    r"\b(?:ignored|dropped|lost|swallowed|overwritten|clobbered|rejected|refused|broken|mishandled"
    r"|discarded|skipped|forgotten|misread|corrupted|unsupported|leaked|raised|thrown|reordered"
    r"|duplicated|not (?:respected|handled|supported|honou?red|propagated|forwarded|freed|released"
    r"|restored|recogni[sz]ed|accepted|passed on|kept|called|waited for)) by\s{1,2}"
    r"(?:(?:a|an|the|torch'?s|pytorch'?s)\s{1,2}){0,2}$",
)
SUBORDINATE: Final[Cue] = cue(
    r"[^ ].{3,200}(?:[ ,]\b(?:when|if|while|whenever|once|unless|because|since|in case|as soon as"
    r"|inside|within|despite)\b|\((?=[^)]*$)|\[(?=[^\]]*$))",
)
"""In a title, what its main clause is not: when something happens, and what stands in brackets."""
CONTEXT_BEFORE: Final[Cue] = cue(
    r"\b(?:with|under|using|use|uses|used|inside|behind|wrapped (?:in|with|by)|on top of|during"
    r"|after|before|like|as (?:a|an|the)|via|through|our|my|plus|and|or|from|launched (?:with"
    r"|by)"
    r"|started with|run (?:with|under)|same as|compared (?:to|with)|comparison|than|versus|vs\.?"
    r"|against|unlike|similar to|running|run|ran|trying|followed|following"
    r"|based on)\s{1,2}(?:(?:a|an|the|plain|both|our|basic)\s{1,2}){0,2}$",
)
SETTING_BEFORE: Final[Cue] = cue(r"\b\w{2,30} ?= ?[\"']?[\w:,./-]{0,40}$")
"""Inside the value that an argument is set to: `backend='cpu:x,cuda:y'`."""
ASKED_OF_BEFORE: Final[Cue] = cue(
    r"^\W{0,6}(?:\[[^\]]{1,24}\] )?(?:please )?(?:make|let|teach|allow|have)\s{1,2}(?:the )?$"
)
"""What a request wants to act: `Please make x choose y`."""
PASSED_BEFORE: Final[Cue] = cue(
    r"\b(?:goes?|went|going|pass(?:es|ed|ing)?|runs?|comes?|came|is|calls?) (?:\w{1,8} )?"
    r"(?:through|via)\s{1,2}(?:[\w.,]{1,40}\s{1,2}){0,3}$",
)
CONTEXT_AFTER: Final[Cue] = cue(
    r"^\s(?:\w{1,16}\s)?(?:training|runs?|jobs?|scripts?|setups?|models?|trainer|code|users?"
    r"|stack|world|program|pipeline|fine-?tun\w{1,4}|workloads?|tutorial|example|docs?)\b",
    r"^-(?:wrapped|based|trained|launched|style)\b",
    r"^(?: \w{1,12})? (?:time-?outs?|hang|deadlock|watchdog|stall)\b",
)
