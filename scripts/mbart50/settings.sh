# shellcheck shell=bash
# What the mBART-50 scripts agree on (sourced after lib.sh).
# shellcheck disable=SC2034  # the variables are used by the scripts that source this

# The languages of mBART-50 in the order of its ML50_langs.txt: it gives the language tokens their numbers.
ML50_LANGS=(ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP
    nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN
    mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI)
